-- Has a row once all run directories have been read: a new file has not. One that has runs already was made as they came.
create table filled (n integer not null) strict;
insert into filled select 1 where exists (select 1 from run);
create index run_by_study on run (study, created);
