import type { TextModelView } from '@svc/api/models';
import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import { choices } from '../shell/navigation.js';
import { saveFile } from '../text/csv.js';
import { count, diem, usd, usdNine } from '../text/format.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { AsCode } from './as-code.js';
import { Composer, ToolResults } from './composer.js';
import { type Settings, type Turn, totalsOf } from './conversation.js';
import { SettingsForm } from './settings-form.js';
import { TurnView } from './turn-view.js';
import { useConversation } from './use-conversation.js';

const isText = (model: { type: string } | TextModelView): model is TextModelView => model.type === 'text';

/** Models that can be called here. An encrypted conversation needs a client that holds its keys. */
async function loadModels(signal: AbortSignal): Promise<readonly TextModelView[]> {
  const { data } = await call('GET', '/api/v1/models', { query: { type: 'text' }, signal });
  return data.flatMap((model) =>
    'type' in model && isText(model) && !model.model_spec.offline ? [model] : [],
  );
}

const startSettings = (models: readonly TextModelView[]): Settings => {
  const wanted = choices.value.get('model');
  const model = models.find(({ id }) => id === wanted) ?? models[0];
  return {
    model: model?.id ?? '',
    system: '',
    temperature: '',
    maxTokens: '',
    effort: '',
    webSearch: 'off',
    tools: '',
  };
};

interface TotalsProps {
  readonly turns: readonly Turn[];
  readonly balance: string | undefined;
}

/** What the conversation has cost, and what is left. */
function Totals({ turns, balance }: TotalsProps) {
  const { usdNano, diemNano, inputTokens, outputTokens } = totalsOf(turns);
  return (
    <dl class="facts">
      <dt>Cost</dt>
      <dd>
        <strong>{usdNine(usdNano)}</strong>
        {diemNano > 0n && ` + ${diem(diemNano)}`}
      </dd>
      <dt>Tokens</dt>
      <dd>
        {count(inputTokens)} in, {count(outputTokens)} out
      </dd>
      <dt>Balance</dt>
      <dd>{balance ?? '…'}</dd>
    </dl>
  );
}

interface BenchProps {
  readonly models: readonly TextModelView[];
}

function Bench({ models }: BenchProps) {
  const [settings, setSettings] = useState(() => startSettings(models));
  const [isCodeOpen, setCodeOpen] = useState(false);
  const balances = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limits', { signal })).data.balances,
    [],
  );
  const conversation = useConversation(balances.reload);
  const { turns, isRunning } = conversation;
  const last = turns.at(-1);
  const calls = last?.role === 'assistant' && last.end === 'complete' ? last.calls : [];
  const left = balances.value;
  const balance = left && `${usd(left.USD)}${left.DIEM > 0 ? ` + ${diem(left.DIEM)}` : ''}`;
  return (
    <div class="bench">
      <div class="stack">
        <div class="talk" role="log" aria-label="Conversation" aria-live="off">
          {turns.length === 0 && (
            <Empty title="Ask a model something">
              <span>
                Each response is charged as a request of the API. The conversation is kept only in this page.
              </span>
            </Empty>
          )}
          {turns.map((turn, at) => (
            <TurnView key={at} turn={turn} onRetry={() => conversation.retry(settings)} />
          ))}
        </div>
        {calls.length > 0 && (
          <ToolResults calls={calls} onSend={(results) => conversation.send(settings, results)} />
        )}
        <Composer
          isRunning={isRunning}
          onSend={(added) => conversation.send(settings, added)}
          onStop={conversation.stop}
        />
      </div>
      <aside class="card stack" aria-label="Settings">
        <SettingsForm
          models={models}
          settings={settings}
          onChange={(changes) => setSettings((before) => ({ ...before, ...changes }))}
        />
        <Totals turns={turns} balance={balance} />
        <div class="row">
          <button type="button" class="small" onClick={() => setCodeOpen(true)}>
            As code
          </button>
          <button
            type="button"
            class="small"
            disabled={turns.length === 0}
            onClick={() => saveFile('conversation.json', JSON.stringify(turns, null, 2), 'application/json')}
          >
            Save
          </button>
          <button
            type="button"
            class="small"
            disabled={turns.length === 0 || isRunning}
            onClick={conversation.clear}
          >
            Clear
          </button>
        </div>
      </aside>
      {isCodeOpen && <AsCode settings={settings} turns={turns} onClose={() => setCodeOpen(false)} />}
    </div>
  );
}

/** Conversations with models, streamed, with their cost. */
export function PlaygroundPage() {
  const models = useResource(loadModels, []);
  return (
    <Loaded resource={models} rows={10}>
      {(value) =>
        value.length === 0 ? (
          <div class="card">
            <Empty title="No text models">
              <span>This service offers none at the moment.</span>
            </Empty>
          </div>
        ) : (
          <Bench models={value} />
        )
      }
    </Loaded>
  );
}
