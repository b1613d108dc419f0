import { useState } from 'preact/hooks';
import { textIn } from '../text/form-text.js';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Field, Segments } from '../ui/fields.js';
import { SecretDialog } from '../ui/secret-dialog.js';
import { ErrorNote } from '../ui/states.js';
import { type Endpoint, type EndpointCalls, mailAddress } from './endpoint-calls.js';

type End = 'day' | 'now';

/** How long the earlier secret still signs. */
const OVERLAP_SECONDS: Readonly<Record<End, number>> = { day: 86_400, now: 0 };

interface SecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows the secret that verifies deliveries. */
export const WebhookSecret = (props: SecretProps) => (
  <SecretDialog
    title="The secret of the endpoint"
    note="Copy it now: it is shown only this once. Your server verifies deliveries with it."
    label="Secret"
    {...props}
  />
);

interface EndpointDialogProps {
  readonly calls: EndpointCalls;
  readonly current: Endpoint;
  readonly onClose: () => void;
}

/** Gives an endpoint a new secret. */
export function SecretRotation({ calls, current, onClose }: EndpointDialogProps) {
  const [end, setEnd] = useState<End>('day');
  const [secret, setSecret] = useState<string>();
  const { error, isBusy, run } = useAction(async () =>
    setSecret((await calls.rotate(current.id, OVERLAP_SECONDS[end])) ?? undefined),
  );
  if (secret !== undefined) return <WebhookSecret secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <p class="words">Deliveries to {current.url} are signed with a new secret.</p>
      <Segments
        label="The earlier secret ends"
        value={end}
        options={[
          ['day', 'The earlier one signs for 24 hours more'],
          ['now', 'It ends at once'],
        ]}
        onChange={setEnd}
      />
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void run()}>
          Rotate
        </button>
      </div>
    </Dialog>
  );
}

/** Asks for the code that was sent to an e-mail address. */
export function Confirmation({ calls, current, onClose }: EndpointDialogProps) {
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    await calls.confirm?.(current.id, textIn(data, 'code'));
    announce('The address is confirmed');
    onClose();
  });
  const again = useAction(async () => {
    await calls.test(current.id);
    announce('Another mail is on its way');
  });
  const fault = error ?? again.error;
  return (
    <Dialog title="Confirm the address" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run(new FormData(event.currentTarget));
        }}
      >
        <p class="words">
          A code was sent to {mailAddress(current)}. Until you enter it here, no events are sent there.
        </p>
        <Field label="Code" hint="Valid until the end of the next day (UTC)">
          <input name="code" maxLength={100} required autocomplete="off" autofocus />
        </Field>
        {fault && <ErrorNote error={fault} />}
        <div class="row end">
          <button type="button" disabled={again.isBusy} onClick={() => void again.run()}>
            Send another
          </button>
          <button class="primary" disabled={isBusy}>
            Confirm
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks before an endpoint is deleted. */
export function Deletion({ calls, current, onClose }: EndpointDialogProps) {
  const { error, isBusy, run } = useAction(async () => {
    await calls.remove(current.id);
    announce('The endpoint is deleted');
    onClose();
  });
  return (
    <Dialog title="Delete the endpoint?" onClose={onClose}>
      <p class="words">{current.url} gets no more events, and its deliveries are forgotten.</p>
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void run()}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
