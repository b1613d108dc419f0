import { type DynamicModule, Module } from '@nestjs/common';
import { Characters } from './characters.js';
import { CharactersInForceController } from './operator-files.controller.js';

/** Provides the characters of the process. */
@Module({})
export class CharactersModule {
  static of(characters: Characters): DynamicModule {
    return {
      module: CharactersModule,
      global: true,
      controllers: [CharactersInForceController],
      providers: [{ provide: Characters, useValue: characters }],
      exports: [Characters],
    };
  }
}
