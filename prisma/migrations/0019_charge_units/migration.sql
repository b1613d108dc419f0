-- The unit of a line and of a day's sum, such as `token`. Rows of earlier releases have none.
ALTER TABLE "ledger"."charge_lines" ADD COLUMN "unit" TEXT COLLATE "C";
ALTER TABLE "ledger"."usage_days" ADD COLUMN "unit" TEXT COLLATE "C";
