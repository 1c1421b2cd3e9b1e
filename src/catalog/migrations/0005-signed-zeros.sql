-- Numbers as they are: a column of type real makes 0 of -0.0. Which of the two a zero was, the run directories know.
create table run_metric_as_is (
  run integer not null references run (n) on delete cascade,
  stream text not null,
  name text not null,
  unit text not null,
  better text not null,
  performance integer not null,
  points integer not null,
  not_finite integer not null,
  first any,  -- null where it is not a number: SQLite keeps no NaN
  last any,
  min any,
  max any,
  mean any,
  median any,
  primary key (run, stream, name)
) strict, without rowid;
insert into run_metric_as_is select * from run_metric;
drop table run_metric;
alter table run_metric_as_is rename to run_metric;
delete from filled where exists (select 1 from run_metric where last = 0 or median = 0);
