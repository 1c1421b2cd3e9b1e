-- Where a run stands among the others: its time of creation, or that of an older run where its clock was ahead.
alter table run add column placed text not null default '';
update run set placed = created;
drop index run_by_time;
drop index run_by_recipe;
drop index run_by_study;
create index run_by_place on run (placed, created, id);
create index run_by_recipe on run (recipe, placed);
create index run_by_study on run (study, placed);
