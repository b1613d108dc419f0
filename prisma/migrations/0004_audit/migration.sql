-- What an audit proved: the last ids that it saw, and what the whole book came to there.
CREATE TABLE "ledger"."audit_marks" (
  "number" BIGINT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "scope" TEXT COLLATE "C" NOT NULL,
  "transfer_id" BIGINT NOT NULL,
  "charge_id" BIGINT NOT NULL,
  "refund_id" BIGINT NOT NULL,
  "transfers" BIGINT NOT NULL,
  "charges" BIGINT NOT NULL,
  "internal_usd_nano" DECIMAL(38, 0) NOT NULL,
  "internal_diem_nano" DECIMAL(38, 0) NOT NULL,
  CONSTRAINT "audit_marks_pkey" PRIMARY KEY ("number"),
  CONSTRAINT "audit_marks_scope_known" CHECK ("scope" IN ('whole', 'new'))
);
CREATE TRIGGER "audit_marks_append_only" BEFORE UPDATE OR DELETE ON "ledger"."audit_marks"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "audit_marks_no_truncate" BEFORE TRUNCATE ON "ledger"."audit_marks"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();

-- Balances and days as they were at the last mark. Rows that have changed since are set by the next one.
CREATE TABLE "ledger"."audit_balances" (
  "account_id" UUID NOT NULL,
  "usd_nano" BIGINT NOT NULL,
  "diem_nano" BIGINT NOT NULL,
  CONSTRAINT "audit_balances_pkey" PRIMARY KEY ("account_id")
) WITH (fillfactor = 50);

CREATE TABLE "ledger"."audit_usage_days" (
  "account_id" UUID NOT NULL,
  "day" DATE NOT NULL,
  "key_id" TEXT COLLATE "C" NOT NULL,
  "model" TEXT COLLATE "C" NOT NULL,
  "sku" TEXT COLLATE "C" NOT NULL,
  "units" BIGINT NOT NULL,
  "usd_nano" BIGINT NOT NULL,
  "diem_nano" BIGINT NOT NULL,
  CONSTRAINT "audit_usage_days_pkey" PRIMARY KEY ("account_id", "day", "key_id", "model", "sku")
) WITH (fillfactor = 50);

-- The order in which refunds were made.
CREATE SEQUENCE "ledger"."refunds_id_seq" AS BIGINT;
ALTER TABLE "ledger"."refunds" ADD COLUMN "id" BIGINT NOT NULL DEFAULT nextval('"ledger"."refunds_id_seq"');
ALTER SEQUENCE "ledger"."refunds_id_seq" OWNED BY "ledger"."refunds"."id";
CREATE UNIQUE INDEX "refunds_id_key" ON "ledger"."refunds" ("id");

-- Block ranges are summarised as soon as they are full: what is new stays quick to find, whenever the last vacuum was.
DROP INDEX "ledger"."charges_id_idx";
CREATE INDEX "charges_id_idx" ON "ledger"."charges" USING brin ("id") WITH (autosummarize = on);
DROP INDEX "ledger"."transfers_id_idx";
CREATE INDEX "transfers_id_idx" ON "ledger"."transfers" USING brin ("id") WITH (autosummarize = on);
-- Lines have no order of their own; those that were written lately have late times.
CREATE INDEX "charge_lines_at_idx" ON "ledger"."charge_lines" USING brin ("at") WITH (autosummarize = on);
