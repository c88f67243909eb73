(function () {
  var filter = document.getElementById("filter");
  var check = document.getElementById("filter-check");
  var words = document.getElementById("filter-text");
  var texts = new Map();
  var shown = document.getElementById("filter-shown");
  var findings = document.querySelectorAll("article");
  var order = document.getElementById("filter-order");
  // As they are in the page.
  var files = Array.from(document.querySelectorAll("section.file"));
  var inFiles = files.map(function (file) {
    return Array.from(file.querySelectorAll("article"));
  });
  function bytesOf(finding) {
    return "bytes" in finding.dataset ? Number(finding.dataset.bytes) : -1;
  }
  var most = new Map(files.map(function (file, i) {
    return [file, inFiles[i].reduce(function (so, finding) {
      return Math.max(so, bytesOf(finding));
    }, -1)];
  }));
  function arrange() {
    var byBytes = order.value === "bytes";
    var after = document.createComment("");
    files[0].parentNode.insertBefore(after, files[0]);
    files.forEach(function (file, i) {
      inFiles[i].slice().sort(function (a, b) {
        return byBytes ? bytesOf(b) - bytesOf(a) : 0;
      }).forEach(function (finding) {
        file.appendChild(finding);
      });
    });
    files.slice().sort(function (a, b) {
      return byBytes ? most.get(b) - most.get(a) : 0;
    }).reverse().forEach(function (file) {
      after.parentNode.insertBefore(file, after.nextSibling);
    });
    after.remove();
  }
  // Of a finding, with the name of its file.
  function textOf(finding) {
    if (!texts.has(finding)) {
      var file = finding.closest("section.file").querySelector("h2");
      texts.set(finding, (file.textContent + "\n" + finding.textContent).toLowerCase());
    }
    return texts.get(finding);
  }
  function apply() {
    var levels = {};
    filter.querySelectorAll("input[type=checkbox]").forEach(function (box) {
      levels[box.value] = box.checked;
    });
    var wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var count = 0;
    findings.forEach(function (finding) {
      finding.hidden = !levels[finding.dataset.level] ||
        (check.value !== "" && check.value !== finding.dataset.check) ||
        !wanted.every(function (word) { return textOf(finding).includes(word); });
      count += finding.hidden ? 0 : 1;
    });
    document.querySelectorAll("section.file").forEach(function (file) {
      file.hidden = !file.querySelector("article:not([hidden])");
    });
    shown.textContent = count + " of " + findings.length + " shown";
  }
  filter.hidden = false;
  filter.addEventListener("change", apply);
  words.addEventListener("input", apply);
  if (order) {
    order.addEventListener("change", arrange);
    if (order.value !== "")
      arrange(); // A browser that reloads keeps what was chosen.
  }
  apply();
})();
