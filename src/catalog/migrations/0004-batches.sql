-- The folder of the batch that a run is executed in by a scheduler; empty: executed by the machine that planned it.
alter table run add column batch text not null default '';
