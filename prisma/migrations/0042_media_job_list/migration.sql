-- For the operator's list of jobs, newest first.
CREATE INDEX "jobs_created_at_id_idx" ON "media"."jobs" ("created_at", "id");
