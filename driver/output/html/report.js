(function () {
  var filter = document.getElementById("filter");
  var check = document.getElementById("filter-check");
  var shown = document.getElementById("filter-shown");
  var findings = document.querySelectorAll("article");
  function apply() {
    var levels = {};
    filter.querySelectorAll("input").forEach(function (box) {
      levels[box.value] = box.checked;
    });
    var count = 0;
    findings.forEach(function (finding) {
      finding.hidden = !levels[finding.dataset.level] ||
        (check.value !== "" && check.value !== finding.dataset.check);
      count += finding.hidden ? 0 : 1;
    });
    document.querySelectorAll("section.file").forEach(function (file) {
      file.hidden = !file.querySelector("article:not([hidden])");
    });
    shown.textContent = count + " of " + findings.length + " shown";
  }
  filter.hidden = false;
  filter.addEventListener("change", apply);
  apply();
})();
