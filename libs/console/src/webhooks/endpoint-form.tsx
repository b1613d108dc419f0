import { textIn } from '../text/form-text.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import type { Endpoint, EndpointTerms, EventType } from './webhook-calls.js';

const EVENTS: Readonly<Record<EventType, string>> = {
  'balance.low': 'A balance falls below an amount',
  'key.spend_threshold': 'A key has spent an amount',
  'end_user.spend_threshold': 'One of your users has spent an amount',
  'key.expiring': 'A key expires within three days',
  'payment.settled': 'A payment is credited',
  'payment.reversed': 'The credit of a payment is taken back',
  'refund.created': 'A charge is refunded',
  'account.suspended': 'The account is suspended',
  'account.resumed': 'The suspension has ended',
  'video.completed': 'A video is ready',
  'video.failed': 'A video has failed',
  'music.completed': 'Music is ready',
  'music.failed': 'Music has failed',
  'batch.completed': 'A batch is done',
  'batch.expired': 'A batch has expired',
  'batch.cancelled': 'A batch is cancelled',
  'model.deprecated': 'A model is deprecated',
  'webhook_endpoint.disabled': 'Another endpoint gets no more events',
};
const TYPES = Object.keys(EVENTS) as EventType[];

const termsOf = (data: FormData, current: Endpoint | undefined): EndpointTerms => ({
  url: textIn(data, 'url'),
  events: TYPES.filter((type) => data.has(type)),
  enabled: current === undefined || data.has('enabled'),
});

interface EndpointFormProps {
  /** The endpoint that is changed; a new one without it. */
  readonly current?: Endpoint;
  readonly action: string;
  readonly onSubmit: (terms: EndpointTerms) => Promise<void>;
}

/** Where events are sent, and which. */
export function EndpointForm({ current, action, onSubmit }: EndpointFormProps) {
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    const terms = termsOf(data, current);
    if (terms.events.length === 0) throw new Error('Choose at least one event.');
    await onSubmit(terms);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(new FormData(event.currentTarget));
      }}
    >
      <Field label="URL" hint="A public address of your server, by https or http">
        <input name="url" type="url" maxLength={2_048} required defaultValue={current?.url ?? ''} autofocus />
      </Field>
      <fieldset>
        <legend>Events</legend>
        {TYPES.map((type) => (
          <label key={type} class="check">
            <input type="checkbox" name={type} defaultChecked={current?.events.includes(type) ?? false} />
            <span>
              {EVENTS[type]} <code class="muted">{type}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {current && (
        <label class="check">
          <input type="checkbox" name="enabled" defaultChecked={current.state === 'enabled'} />
          Events are delivered; those that happen while they are not are left out
        </label>
      )}
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button class="primary" disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}
