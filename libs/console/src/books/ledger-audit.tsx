import { usdOf } from '../desk/money-text.js';
import { ask } from '../desk/operator.js';
import { count } from '../text/format.js';
import { Time } from '../ui/time.js';
import { AuditForm } from './audit-form.js';

/** The audit of the books. */
export const LedgerAudit = () => (
  <AuditForm label="The books" run={(scope) => ask('GET', '/operator/v1/ledger/audit', { query: { scope } })}>
    {(report) => (
      <dl class="facts">
        <dt>Audited</dt>
        <dd>
          {report.since === null ? (
            'the whole book'
          ) : (
            <>
              what is new since <Time at={report.since} />
            </>
          )}
        </dd>
        <dt>Accounts</dt>
        <dd>{count(report.accounts)}</dd>
        <dt>Transfers</dt>
        <dd>{count(report.transfers)}</dd>
        <dt>Charges</dt>
        <dd>{count(report.charges)}</dd>
        <dt>Imbalance</dt>
        <dd>
          {usdOf(report.imbalanceUsd)}, {report.imbalanceDiem} DIEM
        </dd>
      </dl>
    )}
  </AuditForm>
);
