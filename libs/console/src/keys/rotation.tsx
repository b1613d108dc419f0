import type { ApiKeyView } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Segments } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { rotateKey } from './key-calls.js';
import { NewKeyDialog } from './new-key-dialog.js';

type End = 'day' | 'now';

/** How long the earlier secret still works. */
const OVERLAP_SECONDS: Readonly<Record<End, number>> = { day: 86_400, now: 0 };

interface RotationProps {
  readonly current: ApiKeyView;
  readonly onClose: () => void;
}

/** Gives a key a new secret. */
export function Rotation({ current, onClose }: RotationProps) {
  const [end, setEnd] = useState<End>('day');
  const [secret, setSecret] = useState<string>();
  const { error, isBusy, run } = useAction(async () => {
    setSecret(await rotateKey(current.id, OVERLAP_SECONDS[end]));
    announce(end === 'now' ? 'The earlier secret has ended' : 'The earlier secret ends in 24 hours');
  });
  if (secret !== undefined)
    return <NewKeyDialog secret={secret} isAdmin={current.apiKeyType === 'ADMIN'} onClose={onClose} />;
  return (
    <Dialog title={`Rotate “${current.description}”`} onClose={onClose}>
      <p>The key gets a new secret, and keeps its terms and its usage. ···{current.last6Chars} ends.</p>
      <Segments
        label="The earlier secret ends"
        value={end}
        options={[
          ['day', 'Ends in 24 hours'],
          ['now', 'Ends at once'],
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
