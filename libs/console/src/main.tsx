import { render } from 'preact';
import { App } from './app.js';
import { startNavigation } from './shell/navigation.js';

const place = document.querySelector('#console');
if (place) {
  startNavigation();
  render(<App />, place);
}
