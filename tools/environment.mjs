// Prints what the results of checks and tests depend on in addition to files: the version of Node, and the
// installed programs without which some tests are skipped. nx.json and project.json add it to their inputs.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const OPTIONAL = ['chromium', 'chromium-headless-shell', 'promtool', 'redis-server'];

const folders = process.env.PATH.split(delimiter);
const installed = OPTIONAL.map((name) => folders.map((folder) => join(folder, name)).find(existsSync));
console.log(process.version, process.platform, process.arch, ...installed.filter(Boolean));
