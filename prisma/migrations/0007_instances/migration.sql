CREATE SCHEMA IF NOT EXISTS "storage";

-- Which process had an instance lock last. A process that lost the lock for a while sees here whether it is still its own.
CREATE TABLE "storage"."instances" (
  "name" TEXT COLLATE "C" NOT NULL,
  "holder" UUID NOT NULL,
  "since" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "instances_pkey" PRIMARY KEY ("name")
);
