/** Helix: no message boxes, so questions are pages and commands answer them. */
import { cases } from './cases.js';
import { Helix } from './helix.js';

cases('Helix', Helix.start);
