-- The value of a metric that stands for its run, and what it is judged by where that is not the last value. Records are read again
-- for both.
alter table run_metric add column judge text not null default '';
alter table run_metric add column shown any;
create index run_metric_by_value on run_metric (name, shown);
create index run_metric_by_best on run_metric (name, (case better when 'lower' then min when 'higher' then max end))
  where better <> 'none';
delete from filled;
