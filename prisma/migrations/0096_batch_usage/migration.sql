-- What the lines of a batch have used and cost, and what they may cost.
ALTER TABLE "gateway"."batches"
    ADD COLUMN "max_cost_nano" BIGINT,
    ADD COLUMN "cost_nano" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "usage" JSONB;

ALTER TABLE "gateway"."batch_results"
    ADD COLUMN "cost_nano" BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN "usage" JSONB;
