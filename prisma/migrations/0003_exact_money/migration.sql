-- What each line takes from which currency; the rest of its amount was written off. Lines pay in their order, DIEM first.
ALTER TABLE "ledger"."charge_lines"
  ADD COLUMN "usd_nano" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "diem_nano" BIGINT NOT NULL DEFAULT 0,
  ADD CONSTRAINT "charge_lines_paid_within" CHECK ("usd_nano" >= 0 AND "diem_nano" >= 0 AND "usd_nano" + "diem_nano" <= "amount_nano");

ALTER TABLE "ledger"."charge_lines" DISABLE TRIGGER "charge_lines_append_only";
WITH reach AS (
  SELECT line.request_id, line.at, line.line, line.amount_nano, charge.usd_nano, charge.diem_nano,
    sum(line.amount_nano) OVER (PARTITION BY line.request_id, line.at ORDER BY line.line) AS upto
  FROM "ledger"."charge_lines" AS line JOIN "ledger"."charges" AS charge USING (request_id, at)
)
UPDATE "ledger"."charge_lines" AS line
SET diem_nano = greatest(0, least(reach.upto, reach.diem_nano) - (reach.upto - reach.amount_nano)),
  usd_nano = greatest(0, least(reach.upto, reach.diem_nano + reach.usd_nano)
    - greatest(reach.upto - reach.amount_nano, reach.diem_nano))
FROM reach
WHERE line.request_id = reach.request_id AND line.at = reach.at AND line.line = reach.line;
ALTER TABLE "ledger"."charge_lines" ENABLE TRIGGER "charge_lines_append_only";

-- The order in which charges were posted. A time is fixed by the event, so it is no such order.
CREATE SEQUENCE "ledger"."charges_id_seq" AS BIGINT;
ALTER TABLE "ledger"."charges" ADD COLUMN "id" BIGINT NOT NULL DEFAULT nextval('"ledger"."charges_id_seq"');
ALTER SEQUENCE "ledger"."charges_id_seq" OWNED BY "ledger"."charges"."id";

-- The history of an account.
CREATE INDEX "charges_account_id_at_request_id_idx" ON "ledger"."charges" ("account_id", "at", "request_id");
-- What was posted last: ids grow with the table, so a summary of each block range is enough.
CREATE INDEX "charges_id_idx" ON "ledger"."charges" USING brin ("id");
CREATE INDEX "transfers_id_idx" ON "ledger"."transfers" USING brin ("id");

-- The sums of each day's lines (UTC), for limits of keys and for reports. Kept by the transaction that posts the lines.
CREATE TABLE "ledger"."usage_days" (
  "account_id" UUID NOT NULL,
  "day" DATE NOT NULL,
  "key_id" TEXT COLLATE "C" NOT NULL,
  "model" TEXT COLLATE "C" NOT NULL,
  "sku" TEXT COLLATE "C" NOT NULL,
  "units" BIGINT NOT NULL,
  "usd_nano" BIGINT NOT NULL,
  "diem_nano" BIGINT NOT NULL,
  -- Lines that count as paid in each currency: in both, or in USD where nothing was paid.
  "usd_entries" BIGINT NOT NULL,
  "diem_entries" BIGINT NOT NULL,
  CONSTRAINT "usage_days_pkey" PRIMARY KEY ("account_id", "day", "key_id", "model", "sku")
) WITH (fillfactor = 50);

INSERT INTO "ledger"."usage_days" (account_id, day, key_id, model, sku, units, usd_nano, diem_nano, usd_entries, diem_entries)
SELECT charge.account_id, (charge.at AT TIME ZONE 'UTC')::DATE, charge.key_id, charge.model, line.sku, sum(line.units),
  sum(line.usd_nano), sum(line.diem_nano), count(*) FILTER (WHERE line.usd_nano > 0 OR line.diem_nano = 0),
  count(*) FILTER (WHERE line.diem_nano > 0)
FROM "ledger"."charges" AS charge JOIN "ledger"."charge_lines" AS line USING (request_id, at)
GROUP BY 1, 2, 3, 4, 5;

-- What an operator or a schedule causes happens once for each account, kind, currency and reference.
ALTER TABLE "ledger"."transfer_references" ADD COLUMN "currency" TEXT COLLATE "C" NOT NULL DEFAULT 'USD';
ALTER TABLE "ledger"."transfer_references" DISABLE TRIGGER "transfer_references_append_only";
UPDATE "ledger"."transfer_references" SET currency = 'DIEM' WHERE kind IN ('grant', 'expiry');
ALTER TABLE "ledger"."transfer_references" ENABLE TRIGGER "transfer_references_append_only";
ALTER TABLE "ledger"."transfer_references" ALTER COLUMN "currency" DROP DEFAULT;
ALTER TABLE "ledger"."transfer_references" DROP CONSTRAINT "transfer_references_pkey";
ALTER TABLE "ledger"."transfer_references"
  ADD CONSTRAINT "transfer_references_pkey" PRIMARY KEY ("account_id", "kind", "currency", "reference");

-- What was given back of a charge. A request may be refunded in parts, each under a reference of its own.
CREATE TABLE "ledger"."refunds" (
  "account_id" UUID NOT NULL,
  "reference" TEXT COLLATE "C" NOT NULL,
  "request_id" TEXT COLLATE "C" NOT NULL,
  "usd_nano" BIGINT NOT NULL,
  "diem_nano" BIGINT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "refunds_pkey" PRIMARY KEY ("account_id", "reference"),
  CONSTRAINT "refunds_not_negative" CHECK ("usd_nano" >= 0 AND "diem_nano" >= 0 AND "usd_nano" + "diem_nano" > 0)
);
CREATE INDEX "refunds_account_id_request_id_idx" ON "ledger"."refunds" ("account_id", "request_id");
CREATE TRIGGER "refunds_append_only" BEFORE UPDATE OR DELETE ON "ledger"."refunds"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "refunds_no_truncate" BEFORE TRUNCATE ON "ledger"."refunds"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();

-- What an account has staked, and the last day (UTC) for which its DIEM was set.
CREATE TABLE "ledger"."stakes" (
  "account_id" UUID NOT NULL,
  "tokens_nano" BIGINT NOT NULL,
  "granted_on" DATE,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "stakes_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "stakes_not_negative" CHECK ("tokens_nano" >= 0)
);
CREATE INDEX "stakes_granted_on_idx" ON "ledger"."stakes" ("granted_on");
