// Functions that V8 inlines into their callers have no frame of their own, and so no samples.
require('node:v8').setFlagsFromString('--no-turbo-inlining');
