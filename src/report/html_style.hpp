#pragma once

#include <string_view>

namespace sabath::report {

/// The page's only style sheet. Colours of curves are far enough apart for people who see fewer of
/// them, and have a contrast of at least 3 to 1 against their ground; text has 4.5 to 1. Paper is
/// light, whatever the screen is.
inline constexpr std::string_view html_style = R"css(
:root {
  color-scheme: light dark;
  --ground: #ffffff; --text: #1a1f26; --faint: #59626e; --rule: #d5dae0; --soft: #f3f5f7; --link: #0b5cad;
  --good: #17663a; --good-soft: #e3f3e9; --bad: #a3231a; --bad-soft: #fbe7e5; --open: #7a4d00; --open-soft: #fbf0d9;
  --s0: #0068a8; --s1: #c24a00; --s2: #00775a; --s3: #a63d7f; --s4: #6a5b00; --s5: #5a54c4;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #14181d; --text: #e6e9ed; --faint: #a3adb8; --rule: #3a424c; --soft: #1e242b; --link: #7cb8ff;
    --good: #7fd6a0; --good-soft: #173524; --bad: #ff9d93; --bad-soft: #451d1a; --open: #f2c266; --open-soft: #3d2f12;
    --s0: #5cb5f0; --s1: #ff9552; --s2: #35c79b; --s3: #ea94c6; --s4: #d8c33f; --s5: #aaa5ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
main, header, footer, nav { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--ground); padding: .5rem; }
.verdict { border-left: .4rem solid; padding: .75rem 1rem; border-radius: .25rem; margin: 0 0 1rem; }
.verdict strong { font-size: 1.2rem; display: block; }
.verdict span { color: var(--text); overflow-wrap: anywhere; }
.good { color: var(--good); background: var(--good-soft); border-color: var(--good); }
.bad { color: var(--bad); background: var(--bad-soft); border-color: var(--bad); }
.open { color: var(--open); background: var(--open-soft); border-color: var(--open); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; margin: 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: 1rem 0 0; }
.scroll { overflow-x: auto; margin: .75rem 0 1.25rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding: 0 0 .4rem; white-space: nowrap; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; unicode-bidi: isolate; }
td { min-width: 2rem; max-width: 26rem; overflow-wrap: break-word; }
th { font-weight: 600; }
thead th { vertical-align: bottom; }
tbody th { font-weight: 400; white-space: normal; max-width: 26rem; overflow-wrap: break-word; }
tbody .name { white-space: nowrap; }
td.sentence { min-width: 16rem; }
.number { text-align: right; }
td.number { white-space: nowrap; overflow-wrap: normal; }
figure { margin: 1rem 0 1.75rem; }
figcaption { color: var(--faint); font-size: .875rem; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .6rem .8rem; border-radius: .25rem; overflow-x: auto; font-size: .8125rem; margin: .25rem 0 1rem; }
@media screen {
  .long { max-height: 26rem; overflow-y: auto; border: 1px solid var(--rule); border-radius: .25rem; padding: .25rem .6rem; }
  .long thead th { position: sticky; top: -.25rem; background: var(--ground); }
}
footer { color: var(--faint); font-size: .875rem; padding: 2rem 1.25rem; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--text); font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
svg .faint, svg .small { fill: var(--faint); }
svg .small { font-size: 11px; }
svg .strong { font-weight: 600; }
.grid { stroke: var(--rule); stroke-width: 1; }
.axis { stroke: var(--faint); stroke-width: 1; }
.c0 { --c: var(--s0); } .c1 { --c: var(--s1); } .c2 { --c: var(--s2); }
.c3 { --c: var(--s3); } .c4 { --c: var(--s4); } .c5 { --c: var(--s5); }
.curve { fill: none; stroke: var(--c); stroke-width: 1.75; stroke-linejoin: round; }
.c1 .curve { stroke-dasharray: 7 3; } .c2 .curve { stroke-dasharray: 2 3; } .c3 .curve { stroke-dasharray: 9 3 2 3; }
.c4 .curve { stroke-dasharray: 4 2; } .c5 .curve { stroke-dasharray: 12 4; } .again .curve { stroke-width: 3; }
.extremes { fill: none; stroke: var(--c); stroke-width: 1; opacity: .45; }
.band { fill: var(--c); opacity: .3; }
.range { fill: var(--c); opacity: .16; }
.violin { fill: var(--c); opacity: .25; stroke: var(--c); stroke-width: 1; }
.dot { fill: var(--c); }
.point { fill: var(--c); stroke: var(--ground); stroke-width: .75; }
.median { stroke: var(--text); stroke-width: 2; }
.q0 { fill: #00224e; } .q1 { fill: #29406b; } .q2 { fill: #575d6d; } .q3 { fill: #858378; }
.q4 { fill: #a69d75; } .q5 { fill: #d2c05f; } .q6 { fill: #fee838; }
[class^="q"] { stroke: var(--rule); stroke-width: 1; }
.wrong { fill: none; stroke: var(--bad); stroke-width: 2; }
.missing { fill: none; stroke: var(--faint); stroke-dasharray: 2 2; }
svg .t-q0, svg .t-q1, svg .t-q2 { fill: #ffffff; }
svg .t-q3, svg .t-q4, svg .t-q5, svg .t-q6 { fill: #000000; }
.stage { fill: var(--soft); stroke: var(--faint); stroke-width: 1.25; rx: 5px; }
.stage.ok { stroke: var(--good); } .stage.failed { stroke: var(--bad); fill: var(--bad-soft); stroke-width: 2.5; }
.stage.interrupted { stroke: var(--open); fill: var(--open-soft); stroke-width: 2; }
.stage.skipped, .stage.not_due { stroke-dasharray: 4 3; }
.need { fill: none; stroke: var(--faint); stroke-width: 1.5; }
@media print {
  body { font-size: 10pt; }
  nav, .skip { display: none; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  h2, h3, caption { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding-right: .5rem; }
  td.number, tbody .name, caption { white-space: normal; }
  td.sentence { min-width: 0; }
  th, td { overflow-wrap: anywhere; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  svg, .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace sabath::report
