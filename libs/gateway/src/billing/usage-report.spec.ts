import type { UsageDay } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { keyNames } from './usage-key-names.js';
import { usageReport } from './usage-report.js';

const DAYS = { from: '2026-11-20', until: '2026-11-21', count: 2 };
const [FIRST, SECOND] = [Date.parse('2026-11-20'), Date.parse('2026-11-21')];
const NAMES = {
  modelType: (id: string) => (id === 'gone' ? null : 'text'),
  keyName: (id: string) => `the ${id}`,
};

const sum = (more: Partial<UsageDay>): UsageDay => ({
  day: '2026-11-20',
  keyId: 'key',
  model: 'model',
  sku: 'model-llm-input-mtoken',
  unit: 'token',
  units: 1_000n,
  usdNano: 100n,
  diemNano: 0n,
  ...more,
});

describe('a usage report', () => {
  it('has all days but no models or keys if nothing was used', () => {
    expect(usageReport([], { days: DAYS, top: 8 }, NAMES)).toEqual({
      lookback: '2d',
      byDate: [
        { date: '2026-11-20', USD: 0, DIEM: 0 },
        { date: '2026-11-21', USD: 0, DIEM: 0 },
      ],
      byModel: [],
      byModelDaily: [{ date: FIRST }, { date: SECOND }],
      topModels: [],
      byKey: [],
      byKeyDaily: [{ date: FIRST }, { date: SECOND }],
      topKeyNames: [],
    });
  });

  it('sums by day, by model with its parts, and by key, the most expensive first', () => {
    const sums = [
      sum({}),
      sum({ sku: 'model-llm-output-mtoken', usdNano: 40n, diemNano: 60n }),
      sum({ sku: 'model-llm-cache-input-mtoken', keyId: 'other', day: '2026-11-21', usdNano: 5n }),
      sum({ sku: 'model-llm-cache-write-mtoken', keyId: 'other', day: '2026-11-21', usdNano: 6n }),
      sum({ model: 'gone', sku: 'gone-image-unit', unit: 'unit', keyId: 'other', usdNano: 1_000n }),
      // Ends as the input of completions does, but is not that of this model.
      sum({ model: 'vectors', sku: 'vectors-embedding-llm-input-mtoken', keyId: 'other', usdNano: 0n }),
    ];
    const report = usageReport(sums, { days: DAYS, top: 8 }, NAMES);
    expect(report).toMatchObject({
      byDate: [
        { date: '2026-11-20', USD: 1.14e-6, DIEM: 6e-8 },
        { date: '2026-11-21', USD: 1.1e-8, DIEM: 0 },
      ],
      byModelDaily: [
        { date: FIRST, gone: 1e-6, model: 2e-7, vectors: 0 },
        { date: SECOND, gone: 0, model: 1.1e-8, vectors: 0 },
      ],
      topModels: ['gone', 'model', 'vectors'],
      byKey: [
        { apiKeyId: 'other', description: 'the other', totalUsd: 1.011e-6, totalDiem: 0, totalUnits: 0.004 },
        { apiKeyId: 'key', description: 'the key', totalUsd: 1.4e-7, totalDiem: 6e-8, totalUnits: 0.002 },
      ],
      byKeyDaily: [
        { date: FIRST, 'the other': 1e-6, 'the key': 2e-7 },
        { date: SECOND, 'the other': 1.1e-8, 'the key': 0 },
      ],
      topKeyNames: ['the other', 'the key'],
    });
    expect(report.byModel).toEqual([
      {
        modelName: 'gone',
        unitType: 'unit',
        modelType: null,
        totalUsd: 1e-6,
        totalDiem: 0,
        totalUnits: 0.001,
      },
      {
        modelName: 'model',
        unitType: 'mtoken',
        modelType: 'text',
        totalUsd: 1.51e-7,
        totalDiem: 6e-8,
        totalUnits: 0.004,
        breakdown: [
          { type: 'Input', usd: 1e-7, diem: 0, units: 0.001 },
          { type: 'Output', usd: 4e-8, diem: 6e-8, units: 0.001 },
          { type: 'Cache Read', usd: 5e-9, diem: 0, units: 0.001 },
          { type: 'Cache Write', usd: 6e-9, diem: 0, units: 0.001 },
        ],
      },
      {
        modelName: 'vectors',
        unitType: 'mtoken',
        modelType: 'text',
        totalUsd: 0,
        totalDiem: 0,
        totalUnits: 0.001,
      },
    ]);
  });

  it('lists all models and keys, and a series for the eight most expensive', () => {
    const sums = Array.from({ length: 10 }, (_, index) =>
      sum({ model: `m${index}`, keyId: `k${index}`, usdNano: BigInt(10 + index) }),
    );
    const { byModel, byKey, topModels, topKeyNames, byModelDaily, byKeyDaily } = usageReport(
      sums,
      { days: DAYS, top: 8 },
      NAMES,
    );
    expect([byModel.length, byKey.length]).toEqual([10, 10]);
    expect(topModels).toEqual(['m9', 'm8', 'm7', 'm6', 'm5', 'm4', 'm3', 'm2']);
    expect(topKeyNames).toEqual(topModels.map((name) => name.replace('m', 'the k')));
    for (const series of [...byModelDaily, ...byKeyDaily]) expect(Object.keys(series)).toHaveLength(9);
  });
});

describe('the names of keys', () => {
  it('are their descriptions, with the end of the key if ambiguous, and never the name of another member', () => {
    const labels = [
      { id: 'a', description: 'web', last6: 'aaaaaa' },
      { id: 'b', description: 'twin', last6: 'bbbbbb' },
      { id: 'c', description: 'twin', last6: 'cccccc' },
      { id: 'd', description: '', last6: 'dddddd' },
      { id: 'e', description: 'date', last6: 'eeeeee' },
      { id: 'f', description: '…dddddd', last6: 'ffffff' },
    ];
    expect([...keyNames(['a', 'b', 'c', 'd', 'e', 'f', 'unknown'], labels)]).toEqual([
      ['a', 'web'],
      ['b', 'twin (…bbbbbb)'],
      ['c', 'twin (…cccccc)'],
      ['d', '…dddddd'],
      ['e', 'date (…eeeeee)'],
      ['f', '…dddddd (…ffffff)'],
      ['unknown', 'unknown'],
    ]);
  });
});
