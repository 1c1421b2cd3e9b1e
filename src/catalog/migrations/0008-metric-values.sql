-- Kept for the values of metrics.
select 1;
