import { Gauge } from '../metrics/metrics.js';

/** The operator's files that a process follows: the catalogue and the characters. */
export const operatorFiles = {
  catalog: new Gauge({
    name: 'svc.catalog.info',
    unit: '',
    help: 'Always 1; the label is the hash of the catalogue in force, which is the same in all processes.',
    labels: ['hash'],
  }),
  catalogInvalid: new Gauge({
    name: 'svc.catalog.invalid',
    unit: '',
    help: '1 if the catalogue file is broken or was refused, so that an earlier version is in force, otherwise 0.',
    labels: [],
  }),
  characters: new Gauge({
    name: 'svc.characters.info',
    unit: '',
    help: 'Always 1; the label is the hash of the characters in force, which is the same in all processes.',
    labels: ['hash'],
  }),
  charactersInvalid: new Gauge({
    name: 'svc.characters.invalid',
    unit: '',
    help: '1 if the file of characters is broken, so that an earlier version is in force, otherwise 0.',
    labels: [],
  }),
};
