-- The runs that executed what a run shows, joined by blanks; empty: it executed all of it. Records are read again for it.
alter table run add column executed_by text not null default '';
delete from filled;
