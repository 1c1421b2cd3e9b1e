-- Which layers of environments a run had. Runs that were indexed before have none until 'sabath catalog reindex'.
create table run_layer (
  run integer not null references run (n) on delete cascade,
  key text not null,
  primary key (run, key)
) strict, without rowid;
create index run_layer_by_key on run_layer (key);
