import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The clusters that end-to-end tests run against, one for each worker; without them each test has a process of its own. */
    readonly targets: readonly Target[] | undefined;
  }
}

/** A running deployment, and where it is told what a test needs of it. */
export interface Target {
  readonly apiUrl: string;
  /** Of each gateway, past the balancer. */
  readonly gatewayUrls: readonly string[];
  readonly operatorUrl: string;
  readonly operatorToken: string;
  /** Takes an `Arrangement` by POST, and answers once the deployment is so; tells all logs by GET. */
  readonly controlUrl: string;
  /** Where the files are that every process reads. */
  readonly env: { readonly SVC_CATALOG: string; readonly SVC_CHARACTERS: string };
}

/** What a test file needs of a deployment. */
export interface Arrangement {
  readonly env: Readonly<Record<string, string>>;
  /** The texts of the files. */
  readonly catalog: string;
  readonly characters: string;
}

/** The deployment that this worker's tests run against, if they run against one. */
export function target(): Target | undefined {
  const targets = inject('targets');
  // Vitest numbers the workers that run at the same time from 1 to their number.
  return targets?.[Number(process.env['VITEST_POOL_ID']) % targets.length];
}

/** What this run's deployment was told, the latest last: a file may start a second platform and stop it again. */
const told: Arrangement[] = [];

/** Makes the deployment be as a test needs it; what that returns lets it be as it was before. */
export async function arrange(wanted: Arrangement): Promise<() => Promise<void>> {
  told.push(wanted);
  await tell(wanted);
  return async () => {
    told.splice(told.indexOf(wanted), 1);
    const before = told.at(-1);
    if (before) await tell(before);
  };
}

/** Tells the deployment the latest again, so that its processes start anew. */
export async function arrangeAgain(): Promise<void> {
  const latest = told.at(-1);
  if (latest) await tell(latest);
}

/** What all of its processes have written. */
export async function logsOf({ controlUrl }: Target): Promise<string> {
  return (await fetch(controlUrl)).text();
}

async function tell(wanted: Arrangement): Promise<void> {
  const response = await fetch(target()?.controlUrl ?? '', { method: 'POST', body: JSON.stringify(wanted) });
  if (!response.ok) throw new Error(await response.text());
}
