-- Operators debit accounts and reverse credits. Not validated against existing rows, which would read all of them while
-- writers wait: they satisfy the stricter constraint that this one replaces.
ALTER TABLE "ledger"."transfers" DROP CONSTRAINT "transfers_kind_known";
ALTER TABLE "ledger"."transfers" ADD CONSTRAINT "transfers_kind_known" CHECK (
    "kind" IN ('credit', 'charge', 'refund', 'grant', 'expiry', 'deposit', 'write_off', 'reversal', 'debt', 'repayment',
        'debit', 'credit_reversal')
) NOT VALID;

-- Days are written in their order, so a summary of block ranges finds those of a period for all accounts.
CREATE INDEX "usage_days_day_idx" ON "ledger"."usage_days" USING brin ("day") WITH (autosummarize = on);
CREATE INDEX "refunds_at_idx" ON "ledger"."refunds" USING brin ("at") WITH (autosummarize = on);
