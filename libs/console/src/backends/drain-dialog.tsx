import type { ReplyAt } from '../api/routes.js';
import { DeskForm } from '../desk/desk-form.js';
import { ask } from '../desk/operator.js';
import { ReasonField } from '../desk/text-field.js';
import { textIn } from '../text/form-text.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';

type DrainedRow = Pick<
  ReplyAt<'GET', '/operator/v1/backends'>['data'][number],
  'model' | 'name' | 'drainedAs'
>;

interface DrainDialogProps {
  readonly row: DrainedRow;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const instantOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString();

function change({ model, name }: Pick<DrainedRow, 'model' | 'name'>, body: ChangeBody): Promise<unknown> {
  return ask('PUT', '/operator/v1/backends/:model/:name/state', { params: { model, name }, body });
}

interface ChangeBody {
  readonly state: 'active' | 'draining' | 'off';
  readonly reason: string;
  readonly until?: string | undefined;
}

/** Takes a backend out of service, or puts it back. */
export function DrainDialog({ row, onClose, onDone }: DrainDialogProps) {
  const { model, name, drainedAs } = row;
  const isOut = drainedAs !== null;
  const end = (text: string): void => {
    announce(text);
    onClose();
    onDone();
  };
  if (isOut)
    return (
      <Dialog title="Put the backend back" onClose={onClose}>
        <DeskForm
          action="Put it back"
          onSubmit={async (data) => {
            await change({ model, name: drainedAs }, { state: 'active', reason: textIn(data, 'reason') });
            end('The backend is back in service');
          }}
        >
          {(faults) => <ReasonField problem={faults.get('reason')} autofocus />}
        </DeskForm>
      </Dialog>
    );
  return (
    <Dialog title="Take the backend out of service" onClose={onClose}>
      <DeskForm
        action="Take it out"
        isDanger
        question={() => `Send no further requests for ${model} to ${name}? Those under way end.`}
        onSubmit={async (data) => {
          const state = textIn(data, 'state') === 'off' ? 'off' : 'draining';
          const until = instantOf(textIn(data, 'until'));
          await change({ model, name }, { state, reason: textIn(data, 'reason'), until });
          end('The backend is out of service');
        }}
      >
        {(faults) => (
          <>
            <ReasonField problem={faults.get('reason')} autofocus />
            <label class="field">
              <span>How</span>
              <select name="state">
                <option value="draining">Drain: it is still checked</option>
                <option value="off">Off: it is not checked either</option>
              </select>
            </label>
            <label class="field">
              <span>Until</span>
              <input name="until" type="datetime-local" />
              <span class="hint">Back in service by itself at this time; empty: when you put it back</span>
            </label>
          </>
        )}
      </DeskForm>
    </Dialog>
  );
}
