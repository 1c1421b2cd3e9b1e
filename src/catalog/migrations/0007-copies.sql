-- The runs that executed what a run shows, joined by blanks; empty: it executed all of it. Records are read again for it.
alter table run add column executed_by text not null default '';
-- The run that executed the stage of a metric; empty: the run of the row.
alter table run_metric add column executed_by text not null default '';
delete from filled;
