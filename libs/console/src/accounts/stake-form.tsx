import { DeskForm } from '../desk/desk-form.js';
import { ask } from '../desk/operator.js';
import { TextField } from '../desk/text-field.js';
import { textIn } from '../text/form-text.js';
import { useResource } from '../ui/resource.js';
import { Loaded } from '../ui/states.js';

interface StakeProps {
  readonly account: { readonly id: string; readonly name: string };
  readonly onDone: (text: string) => void;
}

/** Sets what an account has staked, which is its DIEM of each day. */
export function StakeForm({ account: { id, name }, onDone }: StakeProps) {
  const params = { id };
  const stake = useResource(
    (signal) => ask('GET', '/operator/v1/accounts/:id/stake', { params, signal }),
    [id],
  );
  return (
    <Loaded resource={stake} rows={4}>
      {({ tokens }) => (
        <DeskForm
          action="Set the stake"
          question={(data) =>
            `Change the stake of ${name} from ${tokens} to ${textIn(data, 'tokens')} tokens?`
          }
          onSubmit={async (data) => {
            const body = { tokens: textIn(data, 'tokens') };
            await ask('PUT', '/operator/v1/accounts/:id/stake', { params, body });
            onDone('The stake is set');
          }}
        >
          {(faults) => (
            <TextField
              label="Tokens staked"
              name="tokens"
              inputMode="decimal"
              defaultValue={tokens}
              hint="The DIEM of each UTC day is set to it, today's at once unless that was set already"
              problem={faults.get('tokens')}
              required
              autofocus
            />
          )}
        </DeskForm>
      )}
    </Loaded>
  );
}
