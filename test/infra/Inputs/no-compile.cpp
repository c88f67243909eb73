// RUN: yes
nonsense Value;
