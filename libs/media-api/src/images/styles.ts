/** Styles by name, with the words that they add to a prompt. The names are part of the public interface. */
const STYLES: ReadonlyMap<string, string> = new Map([
  ['3D Model', 'three-dimensional render, soft studio light, smooth materials'],
  ['Abstract', 'abstract composition, bold shapes, no recognizable objects'],
  ['Analog Film', 'photograph on analog film, visible grain, faded colours, slight vignette'],
  ['Anime', 'anime illustration, clean outlines, cel shading, vivid colours'],
  ['Architectural', 'architectural visualization, straight lines, accurate perspective'],
  ['Charcoal', 'charcoal drawing, smudged shadows, rough paper'],
  ['Cinematic', 'still from a film, shallow depth of field, dramatic light, wide frame'],
  ['Comic Book', 'comic book panel, inked outlines, halftone dots, strong colours'],
  ['Cubist', 'cubist painting, fragmented forms, several viewpoints'],
  ['Digital Art', 'digital painting, fine detail, rich colours'],
  ['Fantasy Art', 'fantasy illustration, magical atmosphere, intricate detail'],
  ['Film Noir', 'black-and-white film noir, hard shadows, high contrast'],
  ['Impressionist', 'impressionist painting, loose brush strokes, play of light'],
  ['Isometric', 'isometric illustration, parallel projection, clean geometry'],
  ['Line Art', 'line art, thin black lines on white, no shading'],
  ['Low Poly', 'low-poly render, flat facets, few colours'],
  ['Minimalist', 'minimalist design, few elements, much empty space'],
  ['Neon', 'neon light, dark background, glowing edges'],
  ['Oil Painting', 'oil painting, visible brush work, deep colours'],
  ['Origami', 'folded paper, sharp creases, plain background'],
  ['Photographic', 'photograph, natural light, realistic detail'],
  ['Pixel Art', 'pixel art, limited palette, visible square pixels'],
  ['Pop Art', 'pop art, flat bright colours, repeated shapes'],
  ['Sketch', 'pencil sketch, loose lines, light shading'],
  ['Surrealist', 'surrealist painting, dreamlike, impossible combinations'],
  ['Watercolor', 'watercolour painting, flowing washes, paper texture'],
]);

export const STYLE_NAMES: readonly string[] = [...STYLES.keys()];

/** The prompt in a style; `undefined` if there is no such style. */
export function styled(prompt: string, name: string): string | undefined {
  const words = STYLES.get(name);
  return words === undefined ? undefined : `${prompt}, ${words}`;
}
