// Refuses names without meaning, retired metaphors, unknown file suffixes, types of different libraries with
// the same name, and private members written with `#` in TypeScript.
import { basename } from 'node:path';
import { allFiles, finish, isCode, read, withoutComments } from './check-sources.mjs';

const suffixes = new Set(
  'module config controller pipeline store consumer worker spec int conformance e2e fault hostile cluster clients bench d'.split(
    ' ',
  ),
);
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const emptyWords = /^(managers?|helpers?|utils?|utilities|impl|dto|common|misc|service)$/;

const declaration = /\b(class|interface|type|enum|function|const|let)\s+([A-Za-z_$][\w$]*)/g;
const emptySuffix = /(^|[a-z0-9])(Managers?|Helpers?|Utils?|Impl|Dtos?|DTO)$/;
const emptyName = /^(managers?|helpers?|utils?|impl|dto)$/;
/** Retired metaphors, by what replaced them: see the glossary in CONTRIBUTING.md. */
const retiredNames = [
  [/^(ChainWord|wordOf\w*)$/, 'payment status'],
  [/^(Standing|standingOf\w*)$/, 'finality'],
  [/^(Trial|trialOf\w*)$/, 'simulation'],
  [/^([A-Z]\w*Desk|DeskParts)$/, 'operator actions'],
  [/^(Counter|Gauge|Histogram)Cell$/, 'instrument'],
  [/^(\w*Answer|Answer[A-Z]\w*)$/, 'response, completion or output'],
  [/^(\w+World|\w*Stage)$/, 'fixture or harness'],
  [/^(Steady|Hidden|Mortal|mortal)[A-Z]\w*$/, 'error-safe, internal or crashing'],
  [/^(Moody|Played|played)[A-Z]\w*$/, 'faulty or test'],
];
const typeWords = new Set(['class', 'interface', 'type', 'enum']);

/** The reason why a declared name is refused, or undefined. */
function faultOf(word, name) {
  if (emptySuffix.test(name) || emptyName.test(name)) return 'says nothing; name what it is';
  const retired = retiredNames.find(([pattern]) => pattern.test(name));
  if (retired) return `is a metaphor; the term is ${retired[1]}`;
  if (!typeWords.has(word)) return undefined;
  if (/[a-z0-9]Service$/.test(name)) return 'says nothing; name what it does';
  if (/^I[A-Z][a-z]/.test(name)) return 'has an interface prefix';
  return undefined;
}

const faults = [];

function checkFileName(path) {
  const [stem, ...endings] = basename(path)
    .replace(/\.(?:[mc]?[jt]s|tsx)$/, '')
    .split('.');
  if (!kebab.test(stem)) faults.push(`${path}: a file name is kebab-case`);
  if (stem.split('-').some((word) => emptyWords.test(word)))
    faults.push(`${path}: the file name says nothing`);
  for (const ending of endings) {
    if (!suffixes.has(ending)) faults.push(`${path}: the suffix .${ending} means nothing here`);
  }
}

function checkDeclarations(path) {
  withoutComments(read(path))
    .split('\n')
    .forEach((line, index) => {
      for (const [, word, name] of line.matchAll(declaration)) {
        const fault = faultOf(word, name);
        if (fault) faults.push(`${path}:${index + 1}: the name ${name} ${fault}`);
      }
    });
}

const participle = /\b(?:\w+(?:Asked|Said|Saying|Told|Heard)|(?:asked|said|saying|told)(?:[A-Z]\w*)?)\b/g;
const textInQuotes = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** A name that says who spoke hides whether it is a request, a response or a part of one. */
function checkParticiples(path) {
  withoutComments(read(path))
    .split('\n')
    .forEach((line, index) => {
      for (const [name] of line.replace(textInQuotes, '').matchAll(participle))
        faults.push(`${path}:${index + 1}: the name ${name} is a participle; name the thing with a noun`);
    });
}

const hashField = /(?:\bthis\.|^\s+(?:(?:static|readonly|async|get|set) )*)#[a-z]\w*/;

/** TypeScript has `private`; only plain JavaScript needs `#`. */
function checkPrivateMembers(path) {
  if (!/\.tsx?$/.test(path)) return;
  withoutComments(read(path))
    .split('\n')
    .forEach((line, index) => {
      if (hashField.test(line)) faults.push(`${path}:${index + 1}: a member with # is \`private\` here`);
    });
}

const exportedType = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm;
/** The library that exports each type. */
const owners = new Map();

function checkExportedTypes(path) {
  const [, library] = /^libs\/([\w-]+)\/src\//.exec(path) ?? [];
  if (library === undefined) return;
  for (const [, name] of withoutComments(read(path)).matchAll(exportedType)) {
    const owner = owners.get(name);
    if (owner !== undefined && owner !== library)
      faults.push(`${path}: the type ${name} has the name of a type of libs/${owner}`);
    else owners.set(name, library);
  }
}

for (const path of allFiles().filter((file) => isCode(file) && /^(libs|apps)\//.test(file))) {
  checkFileName(path);
  checkDeclarations(path);
  checkParticiples(path);
  checkPrivateMembers(path);
  checkExportedTypes(path);
}
finish(faults);
