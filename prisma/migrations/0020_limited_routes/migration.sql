-- The path of the route whose limit refused the request; its `model` is empty. Earlier rows have `endpoint:` and the path there.
ALTER TABLE "limiter"."reached" ADD COLUMN "route" TEXT COLLATE "C";
