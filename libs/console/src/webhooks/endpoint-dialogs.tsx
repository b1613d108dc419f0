import { useState } from 'preact/hooks';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Segments } from '../ui/fields.js';
import { SecretDialog } from '../ui/secret-dialog.js';
import { ErrorNote } from '../ui/states.js';
import type { Endpoint, EndpointCalls } from './endpoint-calls.js';

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
    setSecret(await calls.rotate(current.id, OVERLAP_SECONDS[end])),
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
