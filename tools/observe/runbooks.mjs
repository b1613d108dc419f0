// The runbooks of the alerts, by URL.

/** Base URL of the runbooks; the chart has a value for it. */
export const RUNBOOKS_URL = 'https://git.example/svc/blob/main/deploy/runbooks';

export const runbookUrl = (name) => `${RUNBOOKS_URL}/${name}.md`;
