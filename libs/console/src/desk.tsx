import { render } from 'preact';
import { DeskApp } from './desk-app.js';
import { startNavigation } from './shell/navigation.js';

const place = document.querySelector('#desk');
if (place) {
  startNavigation();
  render(<DeskApp />, place);
}
