/** Functions that tests offer to models. */
export const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;
export const TIME = {
  type: 'function',
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
} as const;
