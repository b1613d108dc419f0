import { Injectable } from '@nestjs/common';
import { Catalog, Characters, type Model } from '@svc/catalog';
import type { SvcParametersEcho } from '@svc/api/chat';
import { characterNotFound } from '@svc/paid/models';

/** The system prompts that go before the caller's own. */
@Injectable()
export class Prompts {
  constructor(
    private readonly catalog: Catalog,
    private readonly characters: Characters,
  ) {}

  /** The house prompts, unless switched off, then the character's prompt. Refuses: CHARACTER_NOT_FOUND. */
  for(parameters: SvcParametersEcho, model: Model): readonly string[] {
    const house = parameters.include_venice_system_prompt ? this.catalog.housePromptsFor(model) : [];
    if (parameters.character_slug === undefined) return house;
    const character = this.characters.find(parameters.character_slug);
    if (!character) throw characterNotFound('svc_parameters.character_slug');
    return [...house, character.systemPrompt];
  }
}
