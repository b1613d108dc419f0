// Refuses to release a tag that is not the version of the packages: node tools/release/check-tag.mjs TAG.
// Runs before `npm ci`.
import { currentVersion, versionFaults } from './version.mjs';

const [tag] = process.argv.slice(2);
const faults = versionFaults();
if (tag !== `v${currentVersion()}`) faults.push(`the tag is ${tag}, and the version ${currentVersion()}`);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
