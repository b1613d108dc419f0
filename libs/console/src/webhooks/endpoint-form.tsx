import { textIn } from '../text/form-text.js';
import { useAction } from '../ui/action.js';
import { Field } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { type Endpoint, type EndpointCalls, type EndpointTerms, mailAddress } from './endpoint-calls.js';

const termsIn = (data: FormData, current: Endpoint | undefined): EndpointTerms => ({
  url: textIn(data, 'url'),
  events: data.getAll('events').filter((type) => typeof type === 'string'),
  enabled: current === undefined || data.has('enabled'),
});

const SERVERS = 'A public address of your server, by https or http';

interface EndpointFormProps {
  readonly calls: EndpointCalls;
  /** The endpoint that is changed; a new one without it. */
  readonly current?: Endpoint;
  readonly action: string;
  readonly onSubmit: (terms: EndpointTerms) => Promise<void>;
}

/** Where events are sent, and which. */
export function EndpointForm({ calls, current, action, onSubmit }: EndpointFormProps) {
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    const terms = termsIn(data, current);
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
      <Field label="URL" hint={calls.confirm ? `${SERVERS}, or mailto:you@example.com` : SERVERS}>
        <input
          name="url"
          type="url"
          maxLength={2_048}
          required
          readOnly={current !== undefined && mailAddress(current) !== undefined}
          defaultValue={current?.url ?? ''}
          autofocus
        />
      </Field>
      <fieldset>
        <legend>Events</legend>
        {Object.entries(calls.events).map(([type, text]) => (
          <label key={type} class="check">
            <input
              type="checkbox"
              name="events"
              value={type}
              defaultChecked={current?.events.includes(type) ?? false}
            />
            <span>
              {text} <code class="muted">{type}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {current && current.state !== 'unconfirmed' && (
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
