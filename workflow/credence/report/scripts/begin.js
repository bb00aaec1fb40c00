// Before anything is drawn: from now on parts are closed until a reader opens them.
"use strict";

document.documentElement.classList.add("scripted");
