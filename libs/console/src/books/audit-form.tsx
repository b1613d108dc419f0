import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../ui/action.js';
import { Segments } from '../ui/fields.js';
import { ErrorNote } from '../ui/states.js';

const SCOPES = [
  ['new', 'What is new since the last audit'],
  ['whole', 'Everything'],
] as const;
export type Extent = (typeof SCOPES)[number][0];

interface AuditFormProps<T> {
  readonly label: string;
  readonly run: (scope: Extent) => Promise<T>;
  readonly children: (report: T) => ComponentChildren;
}

/** Runs an audit when asked to, which takes a while of large books. */
export function AuditForm<T extends { readonly ok: boolean; readonly mismatches: readonly string[] }>({
  label,
  run,
  children,
}: AuditFormProps<T>) {
  const [scope, setScope] = useState<Extent>('new');
  const [report, setReport] = useState<T>();
  const audit = async () => {
    setReport(undefined);
    setReport(await run(scope));
  };
  const { error, isBusy, run: start } = useAction(audit, { isRepeatable: true });
  return (
    <section class="card stack" aria-label={label}>
      <h2>{label}</h2>
      <Segments label={`What is audited: ${label}`} value={scope} options={SCOPES} onChange={setScope} />
      <div class="row">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void start()}>
          {isBusy ? 'Auditing…' : 'Audit'}
        </button>
      </div>
      {error && <ErrorNote error={error} />}
      {report && (
        <div class="stack" role="status">
          <p class={`note ${report.ok ? 'good' : 'danger'}`}>
            {report.ok ? 'Everything agrees.' : 'Something does not agree.'}
          </p>
          {children(report)}
          {report.mismatches.length > 0 && (
            <ul class="lines">
              {report.mismatches.map((mismatch) => (
                <li key={mismatch}>{mismatch}</li>
              ))}
            </ul>
          )}
        </div>
      )}
    </section>
  );
}
