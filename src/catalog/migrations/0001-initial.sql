-- The index of runs and documents. Everything here can be made again from the run directories and the documents.
create table run (
  n integer primary key,
  id text not null unique,
  study text not null default '',
  recipe text not null,
  recipe_digest text not null default '',
  state text not null,
  message text not null default '',
  created text not null,
  started text not null default '',
  ended text not null default '',
  wall_s real not null default 0,
  node text not null default '',
  user text not null default '',
  seed text not null default '',
  directory text not null
) strict;
create index run_by_time on run (created, id);
create index run_by_state on run (state);
create index run_by_recipe on run (recipe, created);

create table run_tag (
  run integer not null references run (n) on delete cascade,
  tag text not null,
  primary key (run, tag)
) strict, without rowid;
create index run_tag_by_tag on run_tag (tag);

create table run_parameter (
  run integer not null references run (n) on delete cascade,
  name text not null,
  value text not null,
  primary key (run, name)
) strict, without rowid;
create index run_parameter_by_value on run_parameter (name, value);

create table run_facet (
  run integer not null references run (n) on delete cascade,
  name text not null,
  digest text not null,
  primary key (run, name)
) strict, without rowid;
create index run_facet_by_digest on run_facet (name, digest);

create table run_metric (
  run integer not null references run (n) on delete cascade,
  stream text not null,
  name text not null,
  unit text not null,
  better text not null,
  performance integer not null,
  points integer not null,
  not_finite integer not null,
  first real,  -- null where it is not a number: SQLite keeps no NaN
  last real,
  min real,
  max real,
  mean real,
  median real,
  primary key (run, stream, name)
) strict, without rowid;

create table run_input (
  run integer not null references run (n) on delete cascade,
  role text not null,
  asset text not null,
  version text not null,
  digest text not null,
  primary key (run, role)
) strict, without rowid;
create index run_input_by_digest on run_input (digest);

create table run_output (
  run integer not null references run (n) on delete cascade,
  stage text not null,
  path text not null,
  size_bytes integer not null,
  digest text not null,
  primary key (run, stage, path)
) strict, without rowid;

create table run_host (
  run integer not null references run (n) on delete cascade,
  node text not null,
  cpu text not null,
  threads integer not null,
  memory_bytes integer not null,
  gpus text not null,
  os text not null,
  kernel text not null,
  primary key (run, node)
) strict, without rowid;
create index run_host_by_node on run_host (node);

create table document (
  n integer primary key,
  path text not null unique,
  kind text not null,
  name text not null,
  version text not null,
  title text not null
) strict;

create virtual table run_search using fts5 (body, tokenize = 'unicode61 tokenchars ''-_''');
create virtual table document_search using fts5 (name, body, tokenize = 'porter unicode61');
