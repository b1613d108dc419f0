import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { expect, it } from 'vitest';
import { closedAtEnd } from './closed-at-end.js';

const events: string[] = [];

class Kept {
  async close(): Promise<void> {
    events.push('closed');
  }
}

@Module({ providers: [closedAtEnd(Kept), { provide: Kept, useFactory: () => new Kept() }] })
class Keeping {}

it("closes a module's value when the application closes, and not before", async () => {
  const app = await NestFactory.createApplicationContext(Keeping, { logger: false });
  expect(events).toEqual([]);
  await app.close();
  expect(events).toEqual(['closed']);
});
