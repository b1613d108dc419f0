import type { ReplyAt } from '../api/routes.js';
import { amountsText } from '../desk/money-text.js';
import { addressOfPage } from '../shell/navigation.js';
import { Time } from '../ui/time.js';

export type RequestHold = ReplyAt<'GET', '/operator/v1/accounts/:id/holds'>['data'][number];

interface HoldViewProps {
  readonly hold: RequestHold;
  readonly accountId: string;
  readonly onLook: () => void;
}

/** What a request holds that is under way. */
export const HoldView = ({ hold, accountId, onLook }: HoldViewProps) => (
  <div class="stack">
    <p class="row">
      <span class="mono">{hold.requestId}</span> <span class="badge">under way</span>
    </p>
    <section class="card stack" aria-label="Hold">
      <div class="row spread">
        <h2>What it holds</h2>
        <button type="button" onClick={onLook}>
          Look again
        </button>
      </div>
      <dl class="facts">
        <dt>Held</dt>
        <dd>
          <strong>{amountsText(hold.amount)}</strong>
        </dd>
        <dt>Until</dt>
        <dd>
          <Time at={hold.until} form="second" /> UTC, unless the request renews it
        </dd>
        <dt>Account</dt>
        <dd>
          <a class="mono" href={addressOfPage('', { id: accountId })}>
            {accountId}
          </a>
        </dd>
        <dt>Key</dt>
        <dd class="mono">{hold.keyId}</dd>
      </dl>
    </section>
  </div>
);
