import { useState } from 'preact/hooks';
import { amountsText, usdOf } from '../desk/money-text.js';
import { RefundForm } from '../desk/refund-form.js';
import { Scoped } from '../desk/scoped.js';
import { addressOfPage } from '../shell/navigation.js';
import { count, duration } from '../text/format.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { Time } from '../ui/time.js';
import type { SoughtRequest } from './lookup-page.js';

type Charge = NonNullable<SoughtRequest['charge']>;

const Facts = ({ charge }: { readonly charge: Charge }) => (
  <dl class="facts">
    <dt>Account</dt>
    <dd>
      <a class="mono" href={addressOfPage('', { id: charge.accountId })}>
        {charge.accountId}
      </a>
    </dd>
    <dt>Key</dt>
    <dd class="mono">{charge.keyId}</dd>
    <dt>Model, backend</dt>
    <dd>
      {charge.model} at {charge.backend}
    </dd>
    <dt>Ended</dt>
    <dd>
      <Time at={charge.at} form="second" /> UTC, after {duration(charge.durationMs)}
    </dd>
    <dt>Tokens</dt>
    <dd>
      {count(charge.usage.promptTokens)} in, of which {count(charge.usage.cachedTokens)} cached;{' '}
      {count(charge.usage.completionTokens)} out
    </dd>
    <dt>Cost</dt>
    <dd>
      <strong>{amountsText(charge.cost)}</strong>
      {Number(charge.writeOff) > 0 && `, and ${usdOf(charge.writeOff)} that the balance could not pay`}
    </dd>
    <dt>State</dt>
    <dd>{charge.state.replaceAll('_', ' ')}</dd>
  </dl>
);

const Lines = ({ lines }: Pick<Charge, 'lines'>) => (
  <DataTable
    caption="Lines of the charge"
    rows={lines}
    keyOf={({ sku, amount }) => `${sku} ${amount}`}
    columns={[
      { title: 'Line', cell: ({ sku }) => <span class="mono">{sku}</span> },
      { title: 'Units', cell: ({ units, unit }) => `${count(units)} ${unit}`, isNumeric: true },
      { title: 'Per million', cell: ({ pricePerMillion }) => usdOf(pricePerMillion), isNumeric: true },
      { title: 'Amount', cell: ({ amount }) => usdOf(amount), isNumeric: true },
      { title: 'Paid', cell: ({ paid }) => amountsText(paid), isNumeric: true },
    ]}
  />
);

const Refunds = ({ refunds }: Pick<Charge, 'refunds'>) => (
  <DataTable
    caption="Refunds"
    rows={refunds}
    keyOf={({ reference, at }) => `${reference} ${at}`}
    columns={[
      { title: 'Time (UTC)', cell: ({ at }) => <Time at={at} form="second" /> },
      {
        title: 'Cause',
        cell: ({ cause }) => (cause === 'operator' ? 'operator' : 'the request failed'),
      },
      { title: 'Reference', cell: ({ reference }) => <span class="mono">{reference}</span> },
      { title: 'Amount', cell: ({ amount }) => amountsText(amount), isNumeric: true },
    ]}
  />
);

interface ChargeProps {
  readonly charge: Charge;
  readonly onChange: () => void;
}

/** What a request cost, line by line, and what was given back. */
export function ChargeView({ charge, onChange }: ChargeProps) {
  const [isRefunding, setRefunding] = useState(false);
  return (
    <section class="card stack" aria-label="Charge">
      <div class="row spread">
        <h2>What it cost</h2>
        {charge.state !== 'refunded' && charge.state !== 'failed_request' && (
          <Scoped scope="money" what="Refunding">
            <button type="button" onClick={() => setRefunding(true)}>
              Refund
            </button>
          </Scoped>
        )}
      </div>
      <Facts charge={charge} />
      <Lines lines={charge.lines} />
      {charge.refunds.length > 0 && (
        <>
          <h3>Refunds</h3>
          <Refunds refunds={charge.refunds} />
        </>
      )}
      {isRefunding && (
        <Dialog title="Refund the request" onClose={() => setRefunding(false)}>
          <RefundForm
            accountId={charge.accountId}
            requestId={charge.requestId}
            onDone={(text) => {
              announce(text);
              setRefunding(false);
              onChange();
            }}
          />
        </Dialog>
      )}
    </section>
  );
}
