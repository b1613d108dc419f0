import { Controller, Param, Query } from '@nestjs/common';
import { Catalog, Characters } from '@svc/catalog';
import { type CharacterList, CharacterQuery, type CharacterReply, routes } from '@svc/contracts';
import { Serves } from '@svc/runtime';
import { characterNotFound, characterView, searchCharacters } from './character-search.js';

/** Lists the available characters. */
@Controller()
export class CharactersController {
  constructor(
    private readonly characters: Characters,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.characters)
  list(@Query() query: CharacterQuery): CharacterList {
    const found = searchCharacters(this.characters.list(), query, this.modelId);
    return { object: 'list', data: found.map((character) => characterView(character, this.modelId)) };
  }

  @Serves(routes.character)
  one(@Param() { slug }: { slug: string }): CharacterReply {
    const character = this.characters.find(slug);
    if (!character) throw characterNotFound('slug');
    return { object: 'character', data: characterView(character, this.modelId) };
  }

  /** Resolves the name of a model at present. */
  private readonly modelId = (name: string): string => this.catalog.text.find(name)?.id ?? name;
}
