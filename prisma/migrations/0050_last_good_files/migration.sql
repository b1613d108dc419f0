-- The version of each of the operator's files that was last in force, for a gateway that starts with a broken one.
CREATE TABLE "gateway"."last_good_files" (
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "last_good_files_pkey" PRIMARY KEY ("name")
);
