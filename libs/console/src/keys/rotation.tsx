import type { ApiKeyView } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Segments } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';
import { changeKey, createKey, revokeKey, termsOf } from './key-calls.js';
import { NewKeyDialog } from './new-key-dialog.js';

type End = 'day' | 'now';

interface RotationProps {
  readonly current: ApiKeyView;
  readonly onClose: () => void;
}

/** Ends the old key at once or in a day, while its clients get the new one. */
const endKey = ({ id }: ApiKeyView, end: End): Promise<void> =>
  end === 'now'
    ? revokeKey(id)
    : changeKey(id, { expiresAt: new Date(Date.now() + 86_400_000).toISOString() });

/** Replaces a key by one with the same terms. */
export function Rotation({ current, onClose }: RotationProps) {
  const [end, setEnd] = useState<End>('day');
  const [secret, setSecret] = useState<string>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const finish = async () => {
    setError(undefined);
    try {
      await endKey(current, end);
      announce(end === 'now' ? 'The old key is revoked' : 'The old key ends in 24 hours');
    } catch (cause) {
      setError(new Error(`The old key is still valid: ${(cause as Error).message}`, { cause }));
    }
  };
  const rotate = async () => {
    setBusy(true);
    setError(undefined);
    try {
      setSecret(await createKey(termsOf(current), current.apiKeyType));
      await finish();
    } catch (cause) {
      setError(cause as Error);
      setBusy(false);
    }
  };
  if (secret !== undefined)
    return (
      <NewKeyDialog secret={secret} isAdmin={current.apiKeyType === 'ADMIN'} onClose={onClose}>
        {error && <ErrorNote error={error} onRetry={() => void finish()} />}
      </NewKeyDialog>
    );
  return (
    <Dialog title={`Rotate “${current.description}”`} onClose={onClose}>
      <p>A new key with the same terms is created, and ···{current.last6Chars} ends.</p>
      <Segments
        label="The old key ends"
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
        <button type="button" class="primary" disabled={isBusy} onClick={() => void rotate()}>
          Rotate
        </button>
      </div>
    </Dialog>
  );
}
