-- What was said of a run after its end; tags that were given later are in run_tag. Records are read again for run_reference.
create table run_note (
  run integer not null references run (n) on delete cascade,
  at text not null,
  by text not null,
  text text not null
) strict;
create index run_note_by_run on run_note (run);
-- The runs that a run needs: it repeats or explains them, or took a stage of theirs.
create table run_reference (
  run integer not null references run (n) on delete cascade,
  kind text not null,
  needed text not null,
  primary key (run, kind, needed)
) strict, without rowid;
create index run_reference_by_needed on run_reference (needed);
delete from filled;
