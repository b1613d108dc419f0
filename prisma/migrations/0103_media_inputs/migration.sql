-- Further images and videos that a video is made from, until its job has ended.
ALTER TABLE "media"."jobs" ADD COLUMN "inputs" BYTEA[];
